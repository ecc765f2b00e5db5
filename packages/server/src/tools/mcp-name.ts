import { createHash } from 'node:crypto';

/** Every provider takes 64 characters (R61), but some clients hide a tool whose name is longer than this (P21). */
const NAME_LENGTH = 60;
const HASH_LENGTH = 8;

/**
 * Names for MCP tools as the model calls them: `mcp_<server>_<tool>`, matching `[A-Za-z0-9_-]{1,64}`, unique (R61). A name that
 * is too long, holds other characters, or would meet another's gets a hash of server and tool at its end, the same in every
 * run. No tool of our own begins with `mcp_`.
 */
export function chooseFlatNames(tools: readonly { server: string; toolName: string }[]): string[] {
  const plain = tools.map(tool => `mcp_${tool.server}_${tool.toolName}`);
  const fit = plain.map(name => name.replace(/[^A-Za-z0-9_-]/g, '_'));
  return tools.map((tool, at) => {
    const name = fit[at]!;
    const alone = fit.filter(other => other === name).length === 1;
    if (alone && name === plain[at] && name.length <= NAME_LENGTH) return name;
    const hash = createHash('sha256').update(`${tool.server}\0${tool.toolName}`).digest('hex').slice(0, HASH_LENGTH);
    return `${name.slice(0, NAME_LENGTH - HASH_LENGTH - 1)}_${hash}`;
  });
}
