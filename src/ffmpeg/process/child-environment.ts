export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Paths of programs, libraries and GPU drivers, the language, and the C library's allocator. */
const allowedNames: ReadonlySet<string> = new Set([
  ...['PATH', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'],
  ...['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'GLIBC_TUNABLES'],
  ...['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'NVIDIA_VISIBLE_DEVICES', 'NVIDIA_DRIVER_CAPABILITIES'],
  ...['LIBVA_DRIVER_NAME', 'LIBVA_DRIVERS_PATH'],
  // Windows starts no program without these.
  ...['SystemRoot', 'TEMP', 'TMP'],
]);

/** An allow-list, so that settings and secrets of the server stay out. */
export function childEnvironment(variables: EnvironmentVariables): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && (allowedNames.has(name) || name.startsWith('LC_'))) kept[name] = value;
  }
  return kept;
}
