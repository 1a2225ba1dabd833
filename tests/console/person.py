"""What a person does in a page: with a mouse or a finger, and with the keyboard."""

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


@dataclass(frozen=True)
class Person:
    """Somebody in front of a screen."""

    browser: Browser
    is_on_phone: bool

    def see(self, text: str) -> None:
        self.browser.wait_for_text(text)

    def find(self, found: str) -> tuple[float, float]:
        """Return where the center of an element is, given an expression."""
        self.browser.wait_for(f"({_SHOWN % found}) !== null")
        x, y = self.browser.evaluate(_SHOWN % found)
        return x, y

    def press(self, name: str) -> None:
        """Press what has this text or label."""
        self.press_at(*self.find(_NAMED % json.dumps(name)))

    def press_first(self, selector: str) -> None:
        self.press_at(*self.find(f"document.querySelector({json.dumps(selector)})"))

    def press_at(self, x: float, y: float) -> None:
        if self.is_on_phone:
            self._touch("touchStart", x, y)
            self._touch("touchEnd")
            return
        self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y)
        self._mouse("mouseReleased", x, y)

    def hover(self, selector: str) -> None:
        x, y = self.find(f"document.querySelector({json.dumps(selector)})")
        for step in (2, 1, 0):
            self._mouse("mouseMoved", x - step, y)

    def drag(self, found: str, target: str) -> None:
        """Drag an element by the mouse onto another."""
        x, y = self.find(found)
        self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y)
        self._mouse("mouseMoved", x, y + 10)  # far enough to be no click
        self.browser.wait_for("document.querySelector('.lifted')")
        box = f"({target}).getBoundingClientRect()"
        to_x, to_y = self.browser.evaluate(f"[{box}.left + 60, {box}.top + 20]")
        for part in (0.3, 0.6, 1.0):
            self._mouse("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part)
        self.browser.wait_for(f"({target}).dataset.over === 'true'")
        self._mouse("mouseReleased", to_x, to_y)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        for character in text:
            self.browser.press_character(character)

    def write(self, label: str, text: str) -> None:
        """Press a field, and replace what it says."""
        self.press_at(*self.find(_field(label)))
        self.browser.evaluate(f"{_field(label)}.select?.()")
        self.browser.call("Input.insertText", text=text)

    def tab_to(self, condition: str) -> None:
        """Press Tab until what has the focus, as `it`, meets a condition."""
        for _ in range(200):
            self.browser.press_key("Tab")
            if self.browser.evaluate(f"(it => {condition})(document.activeElement)"):
                return
        raise AssertionError(f"Tab doesn't reach {condition}")

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
