import { Header, Pax } from 'tar';
import { BackupError, blockBytes, paddingOf } from './archive-format.ts';

export interface ArchivedFile {
  readonly name: string;
  readonly size: number;
  readonly mtime: Date;
  /** Must be read to its end before the next file. */
  readonly content: AsyncGenerator<Buffer>;
}

/** Most file systems allow shorter paths only. */
const maxPaxBytes = 64 * 1024;

/** @throws BackupError when the archive is truncated, or contains anything but regular files */
export async function* readArchive(source: AsyncIterable<Buffer>): AsyncGenerator<ArchivedFile> {
  const bytes = new ByteReader(source);
  let pax: Pax | undefined;
  for (;;) {
    const block = await bytes.take(blockBytes);
    const header = headerIn(block, pax);
    if (header.nullBlock) return;
    const at = `at byte ${bytes.position - blockBytes}`;
    if (!header.cksumValid || header.path === undefined || header.size === undefined) {
      throw new BackupError(`The backup is damaged ${at}: the tar header is invalid. Use another backup.`);
    }
    if (header.type === 'ExtendedHeader' && header.size <= maxPaxBytes && pax === undefined) {
      pax = Pax.parse((await bytes.take(header.size)).toString('utf8'));
      await bytes.take(paddingOf(header.size));
      continue;
    }
    if (header.type !== 'File') {
      throw new BackupError(
        `This is not a backup of Millrace: "${header.path}" ${at} is not a regular file (${header.type}).`,
      );
    }
    // `Header` prepends the directory of the short name to the name of the pax header.
    const name = pax?.path ?? header.path;
    const { size, mtime = new Date(0) } = header;
    pax = undefined;
    yield { name, size, mtime, content: bytes.chunks(size) };
    await bytes.take(paddingOf(size));
  }
}

function headerIn(block: Buffer, pax: Pax | undefined): Header {
  try {
    return new Header(block, 0, pax);
  } catch {
    return new Header({});
  }
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  position = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.chunks(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *chunks(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      this.position += piece.length;
      missing -= piece.length;
      yield piece;
    }
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#source.next();
    if (done === true) {
      throw new BackupError(`The backup is truncated: it ends at byte ${this.position}. Use another backup.`);
    }
    return value;
  }
}
