import { describe, expect, it } from 'vitest';
import { readRequestHeaders } from './request-headers.ts';

describe('the headers of a run', () => {
  it('read as nothing when none came', () => {
    expect(readRequestHeaders({})).toEqual({
      originalRequestId: undefined,
      allowedTools: undefined,
      excludedTools: undefined,
      sealKey: undefined,
      client: undefined,
    });
  });

  it('tell an empty list of allowed tools from none at all', () => {
    expect(readRequestHeaders({ 'x-cursor-agent-allowed-tools': '' }).allowedTools).toEqual(new Set());
    expect(
      readRequestHeaders({ 'x-cursor-agent-allowed-tools': ' read_tool_call, ls_tool_call ,' }).allowedTools,
    ).toEqual(new Set(['read_tool_call', 'ls_tool_call']));
  });

  it('join a header that came several times', () => {
    const read = readRequestHeaders({ 'x-cursor-agent-exclude-tools': ['shell_tool_call', 'delete_tool_call'] });
    expect(read.excludedTools).toEqual(new Set(['shell_tool_call', 'delete_tool_call']));
  });

  it('take a blob key of 64 hex digits and nothing else', () => {
    expect(readRequestHeaders({ 'x-blob-encryption-key': 'Ab'.repeat(32) }).sealKey).toEqual(Buffer.alloc(32, 0xab));
    for (const wrong of ['', 'ab', 'xy'.repeat(32), 'ab'.repeat(33)]) {
      expect(readRequestHeaders({ 'x-blob-encryption-key': wrong }).sealKey).toBeUndefined();
    }
  });

  it('name the client in a bounded number of characters', () => {
    expect(readRequestHeaders({ 'x-cursor-client-type': 'sdk', 'x-cursor-client-version': '1.0' }).client).toBe(
      'sdk 1.0',
    );
    expect(readRequestHeaders({ 'x-cursor-client-type': 'x'.repeat(5_000) }).client).toHaveLength(100);
  });
});
