import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, delimiter, join } from 'node:path';
import { repository } from '../citations.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a line of shell in the folder of the repository to its end, as a newcomer would: no key, no config and no state of this
 * machine's user. `node` is the one that runs the tests.
 */
export async function runLine(line: string, input = ''): Promise<Ended> {
  const home = mkdtempSync(join(tmpdir(), 'tandem-home-'));
  const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: home, LANG: 'C.UTF-8' };
  const child = spawn('sh', ['-c', line], { cwd: repository, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (stdout += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
  child.stdin.on('error', () => {}); // a line that reads no input may be gone before it is given
  child.stdin.end(input);
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  rmSync(home, { recursive: true, force: true });
  return { exitCode, stdout, stderr };
}
