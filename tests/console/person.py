"""Act as a person in a page: with a mouse or a finger, and with the keyboard."""

import json
from dataclasses import dataclass
from typing import Any

from tests.console.browser import Browser

DESKTOP = {"width": 1200, "height": 860, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
_SHOWN = """(() => {
  const each = (%s);
  if (!each) return null;
  each.scrollIntoView({block: "center", inline: "nearest"});
  const {left, top, width, height} = each.getBoundingClientRect();
  return width > 0 ? [left + width / 2, top + height / 2] : null;
})()"""
_NAMED = """[...document.querySelectorAll("button, a, summary, [role=menuitem], [role=option]")]
  .find(each => [each.ariaLabel, each.textContent.trim()].includes(%s) && each.checkVisibility())"""


_MOST_KEYS = 400  # to get anywhere in a page
_IS_IN_MENU = "it.matches('[role=menuitem]')"


@dataclass(frozen=True)
class Person:
    """Somebody in front of a screen.

    Attributes:
        browser: what they use.
        uses: `mouse`, `finger` (on a phone), or `keyboard`.
    """

    browser: Browser
    uses: str

    @property
    def is_on_phone(self) -> bool:
        return self.uses == "finger"

    @property
    def has_keyboard_only(self) -> bool:
        return self.uses == "keyboard"

    def see(self, text: str) -> None:
        self.browser.wait_for_text(text)

    def find(self, found: str) -> tuple[float, float]:
        """Return where the center of an element is, given an expression."""
        self.browser.wait_for(f"({_SHOWN % found}) !== null")
        x, y = self.browser.evaluate(_SHOWN % found)
        return x, y

    def press(self, name: str) -> None:
        """Press what has this text or label."""
        self._press(_NAMED % json.dumps(name))

    def press_first(self, selector: str) -> None:
        self._press(f"document.querySelector({json.dumps(selector)})")

    def _press(self, found: str) -> None:
        where = self.find(found)
        if self.has_keyboard_only:
            in_menu = self.browser.evaluate(f"(it => {_IS_IN_MENU})({found})")
            self._go_to(found, "ArrowDown" if in_menu else "Tab")
            self.browser.press_key("Enter")
        else:
            self.press_at(*where)

    def _go_to(self, found: str, key: str = "Tab") -> None:
        self.press_until(key, f"it === ({found})")

    def press_at(self, x: float, y: float) -> None:
        self._take(x, y)
        self._release(x, y)

    def look_at(self, selector: str) -> None:
        """Move the mouse or the focus there."""
        found = f"document.querySelector({json.dumps(selector)})"
        x, y = self.find(found)
        if self.has_keyboard_only:
            self._go_to(found)
        else:
            for step in (2, 1, 0):
                self._mouse("mouseMoved", x - step, y)

    def drag(self, found: str, target: str) -> None:
        """Drag an element onto another, by the mouse or a finger."""
        x, y = self.find(found)
        self._take(x, y)
        if not self.is_on_phone:
            self._move(x, y + 10)  # far enough to be no click
        self.browser.wait_for("document.querySelector('.lifted')")
        box = f"({target}).getBoundingClientRect()"
        to_x, to_y = self.browser.evaluate(f"[{box}.left + 60, {box}.top + 20]")
        for part in (0.3, 0.6, 1.0):
            self._move(x + (to_x - x) * part, y + (to_y - y) * part)
        self.browser.wait_for(f"({target}).dataset.over === 'true'")
        self._release(to_x, to_y)

    def slide(self, slider: str, steps: int) -> None:
        """Drag the thumb of a slider that is at its end back by as many steps."""
        _, y = self.find(slider)
        ends = f"(it => [it.getBoundingClientRect(), it])({slider})"
        left, right = self.browser.evaluate(
            f"(([{{left, right}}, {{min, max}}]) => [right - 8 - (right - left - 16)"
            f" * {steps} / (max - min), right - 8])({ends})"
        )
        self._take(right, y)
        for part in (0.5, 1.0):
            self._move(right + (left - right) * part, y)
        self._release(left, y)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        for character in text:
            self.browser.press_character(character)

    def write(self, label: str, text: str) -> None:
        """Press a field, and replace what it says."""
        where = self.find(_field(label))
        if self.has_keyboard_only:
            self._go_to(_field(label))
        else:
            self.press_at(*where)
        self.browser.evaluate(f"{_field(label)}.select?.()")
        self.browser.call("Input.insertText", text=text)

    def press_until(self, key: str, condition: str) -> None:
        """Press a key until what has the focus, as `it`, meets a condition."""
        is_met = f"(it => {condition})(document.activeElement)"
        for _ in range(_MOST_KEYS):
            if self.browser.evaluate(is_met):
                return
            self.browser.press_key(key)
        raise AssertionError(f"{key} doesn't reach {condition}")

    def _take(self, x: float, y: float) -> None:
        if self.is_on_phone:
            self._touch("touchStart", x, y)
        else:
            self._mouse("mouseMoved", x, y)
            self._mouse("mousePressed", x, y)

    def _move(self, x: float, y: float) -> None:
        if self.is_on_phone:
            self._touch("touchMove", x, y)
        else:
            self._mouse("mouseMoved", x, y)

    def _release(self, x: float, y: float) -> None:
        if self.is_on_phone:
            self._touch("touchEnd")
        else:
            self._mouse("mouseReleased", x, y)

    def _mouse(self, kind: str, x: float, y: float) -> None:
        button: dict[str, Any] = {"button": "left", "buttons": 1, "clickCount": 1}
        if kind == "mouseReleased":
            button["buttons"] = 0
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def _touch(self, kind: str, *point: float) -> None:
        points = [{"x": point[0], "y": point[1]}] if point else []
        self.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)


def _field(label: str) -> str:
    return (
        f"[...document.querySelectorAll('label')].find(each => each.textContent === "
        f"{json.dumps(label)} && each.control?.checkVisibility())?.control"
    )
