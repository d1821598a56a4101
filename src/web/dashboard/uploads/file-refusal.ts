import { t } from '../texts/uploads.ts';

const maxFileBytes = 10_000_000_000;

/** Why a file is refused, by its extension, which says more than the type: browsers take the transport stream `.ts` for text. */
const refusedExtensions = {
  captions: 'srt vtt ass ssa sub sbv ttml dfxp',
  archive: 'zip rar 7z tar gz tgz bz2 xz zst',
  image: 'jpg jpeg jpe png bmp tif tiff heic heif svg ico psd ai raw cr2 cr3 nef arw dng xcf eps',
  document: 'pdf doc docx odt rtf pages xls xlsx ods numbers ppt pptx odp key epub mobi txt md csv log',
  code: 'html htm css js mjs cjs jsx tsx json xml yml yaml toml ini sh bat ps1 py rb php go rs c h cpp java kt swift sql map',
  project: 'prproj aep drp fcpxml kdenlive mlt veg blend',
  program: 'exe msi dmg pkg deb rpm apk app dll so jar iso',
  font: 'ttf otf woff woff2',
  system: 'ds_store lnk db ini url webloc plist',
} as const;

type Refusal = keyof typeof refusedExtensions;

const refusalsByExtension = new Map(
  Object.entries(refusedExtensions).flatMap(([refusal, extensions]) =>
    extensions.split(' ').map(extension => [extension, refusal as Refusal] as const),
  ),
);

/** Types of files whose extension says nothing. Animated images are videos for ffmpeg. */
const refusedTypes: readonly (readonly [refusal: Refusal, type: RegExp])[] = [
  ['captions', /^text\/vtt$/],
  ['image', /^image\/(?!gif|webp|avif|apng)/],
  [
    'document',
    /^(?:text\/(?:plain|csv|markdown)|application\/(?:pdf|msword|rtf|vnd\.(?:ms-|oasis|openxml)))/,
  ],
  ['code', /^(?:text\/(?:html|css|javascript)|application\/(?:json|xml|javascript))/],
  ['archive', /^application\/(?:zip|gzip|x-7z|x-tar|vnd\.rar|x-rar)/],
  ['font', /^font\//],
];

/** Says why a file is not sent at all; undefined for everything that may be video or audio. */
export function fileRefusal({ name, size, type }: Pick<File, 'name' | 'size' | 'type'>): string | undefined {
  const extension = /\.([A-Za-z0-9_]+)$/.exec(name)?.[1]?.toLowerCase();
  const refusal =
    (extension === undefined ? undefined : refusalsByExtension.get(extension)) ??
    (isKnownMedia(extension) ? undefined : refusedTypes.find(([, pattern]) => pattern.test(type))?.[0]);
  if (refusal !== undefined) return t(`refusal.kind.${refusal}`);
  if (size === 0) return t('refusal.empty');
  return size >= maxFileBytes ? t('refusal.tooLarge') : undefined;
}

const mediaExtensions = new Set(
  'mp4 m4v mov qt mkv webm avi wmv flv f4v ts mts m2ts mpg mpeg vob 3gp 3g2 mxf ogv ogg ogm y4m m4a mp3 aac wav flac opus gif'.split(
    ' ',
  ),
);

function isKnownMedia(extension: string | undefined): boolean {
  return extension !== undefined && mediaExtensions.has(extension);
}
