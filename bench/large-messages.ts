export async function measureLargeMessages(_: number) { return []; }
