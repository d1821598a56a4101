import { type ErrorEntry, invalid } from './error-entry.ts';

const contentRange = {
  meaning: 'The `Content-Range` of a chunk is invalid, or does not fit the chunks sent before.',
  remedy:
    'Number parts from 1 and bytes from 0, send the same total each time, use one form only, and send chunks of 5 to 200 MiB. Only the last one can be smaller. `GET /videos/{videoId}/status` shows what has arrived.',
};
const sourceGiven = {
  meaning: 'This video was created from a `source` and cannot have another file.',
  remedy: 'Create a video without `source` to upload a file.',
};
const uploadedFile = {
  meaning: 'The file in the form is not allowed here.',
  remedy: 'Send one part with a file name, of a type and size that the reference allows.',
};

/** Errors of uploaded files. */
export const uploadErrors = {
  'uploaded-file-no-file': invalid('There is no uploaded file in the request.', uploadedFile),
  'uploaded-file-multiple-files': invalid(
    'There is more than one uploaded file in the request.',
    uploadedFile,
  ),
  'uploaded-file-empty': invalid('The uploaded file is empty.', uploadedFile),
  'uploaded-file-invalid-file': invalid('The uploaded file is invalid.', uploadedFile),
  'uploaded-file-too-large': invalid('The uploaded file is too large.', uploadedFile),
  'uploaded-file-extension-invalid': invalid(
    'Only [jpeg, jpg, JPG, JPEG] extensions are supported.',
    uploadedFile,
  ),
  'video-source-already-uploaded': invalid('The source of the video is already uploaded.', {
    meaning: 'This video already has its file. A file cannot be replaced.',
    remedy: 'Create another video for another file.',
  }),
  'video-source-already-downloaded': invalid(
    'This video source has already been downloaded when the video was created.',
    sourceGiven,
  ),
  'video-source-already-copied': invalid(
    'This video source has already been copied from an existing video when the video was created.',
    sourceGiven,
  ),
  'video-content-range-already-initiated': invalid(
    'This video source has already been initiated with a "Content-Range" upload.',
    contentRange,
  ),
  'video-content-range-malformed': invalid(
    'The value of the "Content-Range" header is malformed, the expected format is "bytes <from_byte>-<to_byte>/<total_bytes>" or "part <part>/<total_parts>".',
    contentRange,
  ),
  'video-content-range-started-with-part': invalid(
    'This "Content-Range" upload has been started with "part", you cannot continue it with "bytes".',
    contentRange,
  ),
  'video-content-range-started-with-bytes': invalid(
    'This "Content-Range" upload has been started with "bytes", you cannot continue it with "part".',
    contentRange,
  ),
  'video-content-range-by-bytes-total-bytes-zero': invalid(
    'The "total_bytes" value in the "Content-Range" header must be greater than 0.',
    contentRange,
  ),
  'video-content-range-by-bytes-total-bytes-too-high': invalid(
    'The "total_bytes" value in the "Content-Range" header is higher than the maximum allowed limit.',
    contentRange,
  ),
  'video-content-range-by-bytes-total-bytes-too-low': invalid(
    'The "total_bytes" value in the "Content-Range" header is lower than or equal to the upper bound of a range you already sent for this video.',
    contentRange,
  ),
  'video-content-range-by-bytes-different-total-bytes': invalid(
    'The "total_bytes" value in the "Content-Range" header must be the same than the one you already set for this video.',
    contentRange,
  ),
  'video-content-range-by-bytes-from-byte-too-high': invalid(
    'The "from_byte" value in the "Content-Range" header is higher than the "to_byte" value.',
    contentRange,
  ),
  'video-content-range-by-bytes-to-byte-too-high-allowed': invalid(
    'The "to_byte" value in the "Content-Range" header is higher than the maximum upper bound allowed for a video.',
    contentRange,
  ),
  'video-content-range-by-bytes-to-byte-too-high-total': invalid(
    'The "to_byte" value in the "Content-Range" header is higher than the "total_bytes" value you set for this video.',
    contentRange,
  ),
  'video-content-range-by-bytes-range-too-small': invalid(
    'The range in the "Content-Range" header is too small.',
    contentRange,
  ),
  'video-content-range-by-bytes-range-too-large': invalid(
    'The range in the "Content-Range" header is too large.',
    contentRange,
  ),
  'video-content-range-by-bytes-range-mismatch': invalid(
    'The size of the file you sent is different than the range length you set in the "Content-Range" header.',
    contentRange,
  ),
  'video-content-range-by-bytes-range-overlap': invalid(
    'The range in the "Content-Range" header overlaps with a previous one you already sent for this video.',
    contentRange,
  ),
  'video-content-range-by-part-part-zero': invalid(
    'The "part" value in the "Content-Range" header must be greater than 0.',
    contentRange,
  ),
  'video-content-range-by-part-total-parts-zero': invalid(
    'The "total_parts" value in the "Content-Range" header must be greater than 0.',
    contentRange,
  ),
  'video-content-range-by-part-part-too-high-allowed': invalid(
    'The "part" value in the "Content-Range" header is higher than the maximum number of parts allowed for a video.',
    contentRange,
  ),
  'video-content-range-by-part-total-parts-too-high': invalid(
    'The "total_parts" value in the "Content-Range" header is higher than the maximum number of parts allowed for a video.',
    contentRange,
  ),
  'video-content-range-by-part-part-too-high-total': invalid(
    'The "part" value in the "Content-Range" header is higher than the "total_parts" value you set for this video.',
    contentRange,
  ),
  'video-content-range-by-part-different-total-parts': invalid(
    'The "total_parts" value in the "Content-Range" header must be the same than the one you already set for this video.',
    contentRange,
  ),
  'video-content-range-by-part-total-parts-too-low': invalid(
    'The "total_parts" value in the "Content-Range" header is lower than or equal to a part number you already sent for this video.',
    contentRange,
  ),
  'video-content-range-by-part-part-already-sent': invalid(
    'The "part" value in the "Content-Range" header collides with a previous one you already sent for this video.',
    contentRange,
  ),
  'video-content-range-by-part-uploaded-file-too-small': invalid(
    'The uploaded file is too small.',
    contentRange,
  ),
} satisfies Record<string, ErrorEntry>;
