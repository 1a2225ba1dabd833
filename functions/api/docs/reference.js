"use strict";

// A problem document's `type` is /docs#CODE: show what the code means.
function showErrorCode() {
  // Swagger UI writes the fragment as #/CODE.
  const code = decodeURIComponent(location.hash.replace(/^#\/?/, ""));
  for (const cell of document.querySelectorAll(".info td:first-child")) {
    const row = cell.parentElement;
    row.classList.toggle("target", cell.textContent === code);
    if (cell.textContent === code) {
      row.scrollIntoView({ block: "center" });
    }
  }
}

addEventListener("hashchange", showErrorCode);
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  filter: true,
  validatorUrl: null,
  onComplete: showErrorCode,
});
