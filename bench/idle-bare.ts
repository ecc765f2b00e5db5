/** The limit of the idle figure: a bare node:http server that holds open responses and does nothing with them. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const server = http.createServer({ noDelay: true }, (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/connect+proto', 'cache-control': 'no-cache' });
  response.flushHeaders();
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('SIGTERM', () => process.exit(0));
