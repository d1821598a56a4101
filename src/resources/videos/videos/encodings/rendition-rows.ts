import type { Row } from '../../../../store/tables.ts';
import type { StoredCodecRendition, StoredRendition } from '../../../../vod/encoding-repository.ts';

/** A rendition in another codec than H.264 has `codec`; all columns are null for a video without renditions. */
interface JoinedRendition {
  readonly codec: Row<'codec_renditions'>['codec'] | null;
  readonly type: Row<'renditions'>['type'] | null;
  readonly quality: string | null;
  readonly status: Row<'renditions'>['status'] | null;
  readonly progress_percent: number | null;
  readonly file: string | null;
  readonly rendition_facts: string | null;
}

export function renditionFrom(row: JoinedRendition): StoredRendition {
  return {
    type: row.type!,
    quality: row.quality!,
    status: row.status!,
    progressPercent: row.progress_percent!,
    file: row.file ?? undefined,
    renditionMetadata: row.rendition_facts === null ? undefined : JSON.parse(row.rendition_facts),
  };
}

export function codecRenditionFrom(row: JoinedRendition): StoredCodecRendition {
  const { type: _type, ...rendition } = renditionFrom(row);
  return { codec: row.codec!, ...rendition };
}
