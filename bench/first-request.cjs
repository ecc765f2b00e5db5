// Loaded before the command by the bench: tells the file descriptor 3 when the first HTTP request of the process leaves.
const { subscribe } = require('node:diagnostics_channel');
const { writeSync } = require('node:fs');

let isTold = false;
for (const channel of ['http.client.request.start', 'undici:client:sendHeaders', 'http2.client.stream.start']) {
  subscribe(channel, () => {
    if (!isTold) writeSync(3, 'leaves\n');
    isTold = true;
  });
}
