// Opened from a disk, a page may start no worker, so that its search would find nothing: a hidden frame takes the worker's place.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.told("onmessage", data);
      inside.importScripts = () => {};
      const script = inside.document.createElement("script");
      script.src = new URL(url, document.baseURI);
      script.onload = () => { const waiting = this.waiting; this.waiting = null; waiting.forEach((data) => this.postMessage(data)); };
      script.onerror = () => this.told("onerror", null);
      inside.document.body.append(script);
    }
    told(handler, data) { setTimeout(() => this[handler]?.({ data })); }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else setTimeout(() => this.frame?.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() { this.frame?.remove(); this.frame = null; }
  };
}
