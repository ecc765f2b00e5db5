// An MCP server over stdio, run as a process by tests. Its argument makes it misbehave: `garbage` greets on standard output, `die` ends at
// once with words on standard error, `silent` never answers, `flood` writes rubbish without end, `endless` one line without end.
import { createInterface } from 'node:readline';
import { answerMcp } from './mcp-answers.ts';
import type { McpMessage } from './mcp-answers.ts';

const behaviour = process.argv[2] ?? '';
if (behaviour === 'die') {
  process.stderr.write('no licence found\n');
  process.exit(7);
}
if (behaviour === 'garbage') process.stdout.write('Welcome to the server!\n{"half":\n\n42\n');
if (behaviour === 'flood') pour('this is no message\n');
if (behaviour === 'endless') pour('{"x":"'.padEnd(65_536, 'x'));
createInterface({ input: process.stdin }).on('line', line => {
  if (behaviour === 'silent') return;
  void answerMcp(JSON.parse(line) as McpMessage).then(answer => {
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
});

/** As fast as somebody reads it. */
function pour(text: string): void {
  while (process.stdout.write(text));
  process.stdout.once('drain', () => pour(text));
}
