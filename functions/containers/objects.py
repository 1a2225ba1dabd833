"""Objects and their spaces."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.objects.file_store import ObjectFiles
from functions.objects.reader import ObjectReader
from functions.objects.service import Objects
from functions.objects.spaces import Spaces
from functions.objects.store import ObjectStore
from functions.objects.uploads import ObjectUploads
from functions.platform.values import ValueCodec


class ObjectContainer(FurtherContainer):
    """Makes the services of objects and spaces."""

    @cached_property
    def object_files(self) -> ObjectFiles:
        return ObjectFiles(self._common.table, self._common.archive_storage)

    @cached_property
    def object_store(self) -> ObjectStore:
        return ObjectStore(self._common.table, ValueCodec(self._common.cipher), self.object_files)

    @cached_property
    def objects(self) -> Objects:
        return Objects(self.object_store, self._common.audit, self._common.clock)

    @cached_property
    def object_reader(self) -> ObjectReader:
        return ObjectReader(self.object_store, self.object_files, self._common.clock)

    @cached_property
    def object_uploads(self) -> ObjectUploads:
        return ObjectUploads(self.objects, self.object_store, self.object_files, self._common.clock)

    @cached_property
    def spaces(self) -> Spaces:
        return Spaces(self.object_store, self._common.audit, self._common.clock)
