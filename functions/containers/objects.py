"""Objects and their spaces."""

from functions.container import Container
from functions.objects.file_store import ObjectFiles
from functions.objects.reader import ObjectReader
from functions.objects.service import Objects
from functions.objects.spaces import Spaces
from functions.objects.store import ObjectStore
from functions.objects.uploads import ObjectUploads
from functions.platform.values import ValueCodec


class ObjectContainer:
    """Makes the services of objects and spaces."""

    def __init__(self, common: Container) -> None:
        table, audit, clock = common.table, common.audit, common.clock
        self.object_files = ObjectFiles(table, common.archive_storage)
        self.object_store = ObjectStore(table, ValueCodec(common.cipher), self.object_files)
        self.objects = Objects(self.object_store, audit, clock)
        self.object_reader = ObjectReader(self.object_store, self.object_files, clock)
        self.object_uploads = ObjectUploads(
            self.objects, self.object_store, self.object_files, clock
        )
        self.spaces = Spaces(self.object_store, audit, clock)
