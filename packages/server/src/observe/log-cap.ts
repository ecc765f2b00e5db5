/** Characters of one line: what is longer is no line that a person reads, whatever a client or a provider put into it. */
const LINE_CHARACTERS = 16_384;
/** Characters a minute, some 2,000 runs: above it something floods the log, and a disk must not fill up with that. */
const MINUTE_CHARACTERS = 1024 * 1024;
const MINUTE_MS = 60_000;

/**
 * Writes lines of JSON within bounds (F101): a longer line is written as its level, time and text alone; what is above the bound
 * of a minute is left out, and counted in a line of its own once there is room again.
 *
 * @param now milliseconds since the epoch
 */
export function capLines(write: (line: string) => void, now: () => number): (line: string) => void {
  let minuteEnds = -Infinity;
  let left = 0;
  let leftOut = 0;
  return line => {
    if (now() >= minuteEnds) {
      minuteEnds = now() + MINUTE_MS;
      left = MINUTE_CHARACTERS;
      if (leftOut > 0) write(leftOutLine(leftOut, now()));
      leftOut = 0;
    }
    const short = line.length > LINE_CHARACTERS ? shorten(line) : line;
    if (short.length > left) {
      leftOut++;
      return;
    }
    left -= short.length;
    write(short);
  };
}

function shorten(line: string): string {
  const { level, time, msg } = JSON.parse(line) as { level: string; time: string; msg: string };
  return `${JSON.stringify({ level, time, cutFrom: line.length, msg: msg.slice(0, LINE_CHARACTERS / 4) })}\n`;
}

function leftOutLine(leftOut: number, at: number): string {
  const time = new Date(at).toISOString();
  return `${JSON.stringify({ level: 'warn', time, leftOut, msg: 'lines were left out: there were too many in a minute' })}\n`;
}
