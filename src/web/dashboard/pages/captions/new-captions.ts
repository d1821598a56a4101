/** Address of the editor for a language that has no captions yet. */
export function newCaptionsHref(videoId: string, language: string): string {
  return `/dashboard/videos/${videoId}/captions/${encodeURIComponent(language)}?new=1`;
}
