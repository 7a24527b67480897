// Opened from a disk, a page may start no worker, and its search would find nothing: a hidden frame takes the worker's place.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.tell("onmessage", data);
      const script = inside.document.createElement("script");
      script.src = new URL(url, document.baseURI);
      script.onload = () => this.begin();
      script.onerror = () => this.tell("onerror", null);
      inside.document.body.append(script);
    }

    begin() {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    }

    tell(handler, data) {
      const event = { data: structuredClone(data), preventDefault: () => {} };
      setTimeout(() => this[handler]?.(event));
    }

    // What a worker is told is a copy: it may change what it got.
    postMessage(data) {
      const copy = structuredClone(data);
      if (this.waiting) this.waiting.push(copy);
      else setTimeout(() => this.frame?.contentWindow.dispatchEvent(new MessageEvent("message", { data: copy })));
    }

    terminate() {
      this.frame?.remove();
      this.frame = null;
    }
  };
}
