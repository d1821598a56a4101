import type { RefObject } from 'preact';

export function FilesInput({
  inputRef,
  label,
  onFiles,
}: {
  inputRef: RefObject<HTMLInputElement | null>;
  label: string;
  onFiles: (files: File[]) => void;
}) {
  return (
    <input
      ref={inputRef}
      type="file"
      multiple
      hidden
      accept="video/*,audio/*,.mkv,.ts,.mts,.m2ts,.flv,.mxf"
      aria-label={label}
      onChange={({ currentTarget }) => {
        onFiles([...(currentTarget.files ?? [])]);
        currentTarget.value = '';
      }}
    />
  );
}
