// Runs the engine beside the page, so that a long check can be watched and cancelled.

let module;
onmessage = ({ data }) => {
  if (data.module) {
    module = data.module;
    return;
  }
  let last = 0;
  const progress = (done, total) => {
    if (performance.now() - last > 50) {
      last = performance.now();
      postMessage({ id: data.id, done, total });
    }
  };
  postMessage({ id: data.id, said: answer(module, data.request, data.files, progress) });
};
