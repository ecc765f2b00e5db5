/**
 * A glob as a pattern for whole texts: `**` for any folders, `*` and `?` within one part, `{a,b}` for either, `\` before a character that
 * means itself. Braces do not nest.
 */
export function globPattern(glob: string): RegExp {
  let pattern = '';
  let inBraces = false;
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!;
    if (char === '\\' && at + 1 < glob.length) pattern += escapeChar(glob[++at]!);
    else if (glob.startsWith('**/', at)) {
      pattern += '(?:[^/]+/)*';
      at += 2;
    } else if (glob.startsWith('**', at)) {
      pattern += '.*';
      at += 1;
    } else if (char === '*') pattern += '[^/]*';
    else if (char === '?') pattern += '[^/]';
    else if (char === '{' && !inBraces && glob.includes('}', at)) {
      inBraces = true;
      pattern += '(?:';
    } else if (char === '}' && inBraces) {
      inBraces = false;
      pattern += ')';
    } else if (char === ',' && inBraces) pattern += '|';
    else pattern += escapeChar(char);
  }
  return new RegExp(`^${pattern}$`, 's');
}

function escapeChar(char: string): string {
  return /[\w/]/.test(char) ? char : `\\${char}`;
}
