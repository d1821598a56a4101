import { csvFormat, dsvFormat } from 'd3-dsv';
import { addTags } from '../../format/tags.ts';
import { t } from '../../texts/videos.ts';
import { titleOfUrl } from './title-of-url.ts';

export interface ImportedVideo {
  readonly line: number;
  readonly source: string;
  readonly title: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly language?: string;
}

interface ImportList {
  readonly videos: readonly ImportedVideo[];
  readonly problem: string | undefined;
}

export const maxImports = 500;
const sourceColumns = ['url', 'source', 'address', 'link'];

/**
 * Parses one URL per line, or CSV whose first line names its columns: `url`, and optionally `title`, `description`, `tags`
 * (separated by `;`) and `language`.
 */
export function parseImportList(text: string): ImportList {
  const lines = text
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\r?\n/);
  const separator = [';', '\t'].find(each => lines[0]!.includes(each)) ?? ',';
  const names = lines[0]!.split(separator).map(name => name.trim().replaceAll('"', '').toLowerCase());
  const hasNames = names.some(name => sourceColumns.includes(name));
  const columns = hasNames ? names : ['url'];
  const rows = (hasNames ? dsvFormat(separator).parseRows(lines.join('\n')) : lines.map(line => [line]))
    .map((cells, index) => ({ line: index + 1, cells: cells.map(cell => cell.trim()) }))
    .filter(({ cells }) => cells.some(cell => cell !== ''));
  const videos = rows.slice(hasNames ? 1 : 0).map(row => videoOf(row.line, row.cells, columns));
  const wrong = videos.find(({ source }) => !/^https?:$/.test(URL.parse(source)?.protocol ?? ''));
  return {
    videos,
    problem:
      videos.length > maxImports
        ? t('import.tooMany', { count: maxImports })
        : wrong && t('import.noUrl', { line: wrong.line }),
  };
}

/** CSV that {@link parseImportList} reads. */
export function formatImportList(videos: readonly ImportedVideo[]): string {
  return csvFormat(
    videos.map(({ source, title, description = '', tags = [], language = '' }) => ({
      url: source,
      title,
      description,
      tags: tags.join(';'),
      language,
    })),
  );
}

function videoOf(line: number, cells: readonly string[], columns: readonly string[]): ImportedVideo {
  const cellOf = (...names: string[]) => cells[columns.findIndex(column => names.includes(column))] ?? '';
  const source = cellOf(...sourceColumns);
  const { tags } = addTags([], cellOf('tags').replaceAll(/[;|]/g, ','));
  const [description, language] = [cellOf('description'), cellOf('language')];
  return {
    line,
    source,
    title: cellOf('title') || titleOfUrl(source),
    ...(description === '' ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(language === '' ? {} : { language }),
  };
}
