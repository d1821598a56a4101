/** Positions of the blocks' times, which have 16 bits, in a Matroska file that ffmpeg made. */
function blockTimesOf(file: Buffer): number[] {
  const entered = new Set([0x18538067, 0x1f43b675, 0xa0]);
  const positions: number[] = [];
  const lengthAt = (at: number) => Math.clz32(file[at]!) - 23;
  for (let at = 0; at < file.length; ) {
    const idLength = lengthAt(at);
    const id = file.readUIntBE(at, idLength);
    at += idLength;
    const sizeLength = lengthAt(at);
    const first = file[at]! & (0xff >> sizeLength);
    const size = file.subarray(at + 1, at + sizeLength).reduce((sum, byte) => sum * 256 + byte, first);
    at += sizeLength;
    if (entered.has(id)) continue;
    if (id === 0xa1 || id === 0xa3) positions.push(at + lengthAt(at));
    at += size;
  }
  return positions;
}

/** Moves all blocks, some of them before zero. */
export function withEarlierBlocks(file: Buffer, ticks: number): Buffer {
  const moved = Buffer.from(file);
  for (const position of blockTimesOf(moved)) {
    moved.writeInt16BE(moved.readInt16BE(position) - ticks, position);
  }
  return moved;
}
