interface SourceType {
  readonly contentType: string;
  /** File extension without its dot. */
  readonly extension: string;
}

/** Enough for three packets of MPEG-TS with time codes. */
export const sniffedBytes = 400;

const tsPacketBytes = 188;
const timedTsPacketBytes = 192;
const unknownType: SourceType = { contentType: 'application/octet-stream', extension: 'bin' };

const signatures: readonly (readonly [
  offset: number,
  bytes: string,
  contentType: string,
  extension: string,
])[] = [
  [0, 'FLV\x01', 'video/x-flv', 'flv'],
  [0, 'OggS', 'application/ogg', 'ogg'],
  [0, '\x00\x00\x01\xba', 'video/mpeg', 'mpg'],
  [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'video/x-ms-wmv', 'wmv'],
  [0, '\x06\x0e\x2b\x34', 'application/mxf', 'mxf'],
  [8, 'AVI ', 'video/x-msvideo', 'avi'],
  [8, 'WAVE', 'audio/wav', 'wav'],
  [0, 'fLaC', 'audio/flac', 'flac'],
  [0, 'ID3', 'audio/mpeg', 'mp3'],
  [4, 'ftypqt  ', 'video/quicktime', 'mov'],
  [4, 'ftypM4A ', 'audio/mp4', 'm4a'],
  [4, 'ftyp3g', 'video/3gpp', '3gp'],
  [4, 'ftyp', 'video/mp4', 'mp4'],
  // QuickTime files before 2000 have no file type box.
  ...['moov', 'mdat', 'wide', 'free', 'skip'].map(box => [4, box, 'video/quicktime', 'mov'] as const),
];

const webmType: SourceType = { contentType: 'video/webm', extension: 'webm' };
const matroskaType: SourceType = { contentType: 'video/x-matroska', extension: 'mkv' };
const tsContentType = 'video/mp2t';

export const sourceContentTypes: readonly string[] = [
  ...new Set([
    ...signatures.map(([, , contentType]) => contentType),
    ...[webmType, matroskaType, unknownType].map(({ contentType }) => contentType),
    tsContentType,
  ]),
];

/** Recognizes what a video file is by its first {@link sniffedBytes}. Names of uploads are not to be trusted. */
export function sniffSourceType(start: Buffer): SourceType {
  const text = start.toString('latin1');
  for (const [offset, bytes, contentType, extension] of signatures) {
    if (text.startsWith(bytes, offset)) return { contentType, extension };
  }
  if (text.startsWith('\x1a\x45\xdf\xa3')) {
    // The document type stands in the EBML header.
    return text.slice(0, 64).includes('webm') ? webmType : matroskaType;
  }
  if (hasSyncBytes(start, 0, tsPacketBytes)) return { contentType: tsContentType, extension: 'ts' };
  if (hasSyncBytes(start, 4, timedTsPacketBytes)) return { contentType: tsContentType, extension: 'm2ts' };
  return unknownType;
}

function hasSyncBytes(bytes: Buffer, offset: number, packetBytes: number): boolean {
  return [0, 1, 2].every(packet => bytes[offset + packet * packetBytes] === 0x47);
}
