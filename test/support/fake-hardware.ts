import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpegPath } from './ffmpeg.ts';

/** Stands for a machine with NVENC: an ffmpeg that encodes with x264 what it should encode on the graphics card. */
export interface FakeHardware {
  readonly ffmpegPath: string;
  /** Makes this encoder fail from now on; the other one works. */
  breakDown(encoder: 'hardware' | 'software'): Promise<void>;
}

export async function makeFakeHardware(folder: string): Promise<FakeHardware> {
  const path = join(folder, 'ffmpeg');
  const fileOf = { hardware: join(folder, 'broken-hardware'), software: join(folder, 'broken-software') };
  const script = `#!/usr/bin/env bash
args=() used=none
while (($#)); do
  case "$1" in
    h264_nvenc) used='${fileOf.hardware}'; args+=(libx264 -preset ultrafast -tune zerolatency -sc_threshold 0) ;;
    libx264) used='${fileOf.software}'; args+=(libx264) ;;
    -preset | -tune) [ "$used" = '${fileOf.hardware}' ] || args+=("$1" "$2"); shift ;;
    -rc | -cq | -forced-idr | -no-scenecut | -zerolatency | -delay | -spatial-aq) shift ;;
    *) args+=("$1") ;;
  esac
  shift
done
[ ! -e "$used" ] || { echo 'OpenEncodeSessionEx failed: out of memory (10)' >&2; exit 1; }
exec '${ffmpegPath}' "\${args[@]}"
`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return {
    ffmpegPath: path,
    breakDown: async encoder => {
      await rm(fileOf[encoder === 'hardware' ? 'software' : 'hardware'], { force: true });
      await writeFile(fileOf[encoder], '');
    },
  };
}
