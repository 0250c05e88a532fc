"use strict";
// Shows a run while it is measured. Without this script the page reloads itself.
(() => {
  const live = document.getElementById("live");
  if (!live || !window.EventSource) return;
  const source = new EventSource(live.dataset.events);
  const show = (event) => { live.innerHTML = event.data; };
  source.addEventListener("live", show);
  source.addEventListener("over", (event) => { show(event); source.close(); });
})();
