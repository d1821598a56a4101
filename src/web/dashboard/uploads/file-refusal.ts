const maxFileBytes = 10_000_000_000;

const captions = 'This is a captions file. Add it on the page of its video.';
const archive = 'This is an archive, not a video. Unpack it, and upload the videos in it.';
const notVideo = (kind: string) => `This is ${kind}, not a video.`;

/** Texts by file name extension. An extension says more than the type: browsers take the transport stream `.ts` for text. */
const refusedExtensions: readonly (readonly [text: string, extensions: string])[] = [
  [captions, 'srt vtt ass ssa sub sbv ttml dfxp'],
  [archive, 'zip rar 7z tar gz tgz bz2 xz zst'],
  [
    notVideo('an image'),
    'jpg jpeg jpe png bmp tif tiff heic heif svg ico psd ai raw cr2 cr3 nef arw dng xcf eps',
  ],
  [
    notVideo('a document'),
    'pdf doc docx odt rtf pages xls xlsx ods numbers ppt pptx odp key epub mobi txt md csv log',
  ],
  [
    notVideo('a web page or code'),
    'html htm css js mjs cjs jsx tsx json xml yml yaml toml ini sh bat ps1 py rb php go rs c h cpp java kt swift sql map',
  ],
  [notVideo('a project of an editing program'), 'prproj aep drp fcpxml kdenlive mlt veg blend'],
  [notVideo('a program'), 'exe msi dmg pkg deb rpm apk app dll so jar iso'],
  [notVideo('a font'), 'ttf otf woff woff2'],
  [notVideo('a file of your system'), 'ds_store lnk db ini url webloc plist'],
];

const textsByExtension = new Map(
  refusedExtensions.flatMap(([text, extensions]) =>
    extensions.split(' ').map(extension => [extension, text] as const),
  ),
);

/** Types of files whose extension says nothing. Animated images are videos for ffmpeg. */
const refusedTypes: readonly (readonly [text: string, type: RegExp])[] = [
  [captions, /^text\/vtt$/],
  [notVideo('an image'), /^image\/(?!gif|webp|avif|apng)/],
  [
    notVideo('a document'),
    /^(?:text\/(?:plain|csv|markdown)|application\/(?:pdf|msword|rtf|vnd\.(?:ms-|oasis|openxml)))/,
  ],
  [notVideo('a web page or code'), /^(?:text\/(?:html|css|javascript)|application\/(?:json|xml|javascript))/],
  [archive, /^application\/(?:zip|gzip|x-7z|x-tar|vnd\.rar|x-rar)/],
  [notVideo('a font'), /^font\//],
];

/** Says why a file is not sent at all; undefined for everything that may be video or audio. */
export function fileRefusal({ name, size, type }: Pick<File, 'name' | 'size' | 'type'>): string | undefined {
  const extension = /\.([A-Za-z0-9_]+)$/.exec(name)?.[1]?.toLowerCase();
  const text =
    (extension === undefined ? undefined : textsByExtension.get(extension)) ??
    (isKnownMedia(extension) ? undefined : refusedTypes.find(([, pattern]) => pattern.test(type))?.[0]);
  if (text !== undefined) return text;
  if (size === 0) return 'The file is empty.';
  return size >= maxFileBytes ? 'The file is too large: it must be smaller than 10 GB.' : undefined;
}

const mediaExtensions = new Set(
  'mp4 m4v mov qt mkv webm avi wmv flv f4v ts mts m2ts mpg mpeg vob 3gp 3g2 mxf ogv ogg ogm y4m m4a mp3 aac wav flac opus gif'.split(
    ' ',
  ),
);

function isKnownMedia(extension: string | undefined): boolean {
  return extension !== undefined && mediaExtensions.has(extension);
}
