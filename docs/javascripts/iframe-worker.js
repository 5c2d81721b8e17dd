/* Search for pages opened from disk. Browsers start no worker for file:// addresses, so there a
   worker is replaced by a hidden frame that loads the same script and exchanges the same messages.
   The name tells MkDocs Material's offline plugin that it need not fetch a replacement of its own. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const send = (target, event) => setTimeout(() => target.dispatchEvent(event));
      inside.postMessage = (data) => send(this, new MessageEvent("message", { data: structuredClone(data) }));
      this.ready = new Promise((resolve, reject) => {
        const script = frame.contentDocument.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = new URL(address, location.href).href;
        frame.contentDocument.body.appendChild(script);
      });
      this.deliver = (data) => send(inside, new inside.MessageEvent("message", { data: structuredClone(data) }));
      this.terminate = () => frame.remove();
    }

    postMessage(data) {
      this.ready.then(() => this.deliver(data));
    }
  };
}
