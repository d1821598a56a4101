export interface CopyProgress {
  begin(title: string, bytes: number): void;
  add(bytes: number): void;
  end(): void;
}

/** Progress of one folder of the data folder. */
export interface CopiedFolder {
  readonly folder: string;
  files: number;
  bytes: number;
}

export function countByFolder(
  files: Iterable<{ readonly name: string; readonly bytes: number }>,
): CopiedFolder[] {
  const folders = new Map<string, CopiedFolder>();
  for (const { name, bytes } of files) {
    const folder = name.slice(0, name.indexOf('/'));
    const counted = folders.get(folder) ?? { folder, files: 0, bytes: 0 };
    counted.files += 1;
    counted.bytes += bytes;
    folders.set(folder, counted);
  }
  return [...folders.values()].sort((one, other) => one.folder.localeCompare(other.folder));
}
