/** Reasons for which viewers are refused and that pages have texts for, with those of the API. */
export const viewerRefusals = {
  site: "Playback isn't allowed on this site. Open it on a site that the owner allows.",
  'no-site':
    'Playback is limited to certain sites, and the request names no site. Open the page that embeds the player.',
  country: "Playback isn't allowed in your country.",
  expired: 'The token has expired. Open the page again to get a new one.',
  'clip-expired': 'This link to the clip has expired. Get a new link from the site that shared it.',
} as const;

type ViewerRefusal = keyof typeof viewerRefusals;

const refusalOf: ReadonlyMap<string, ViewerRefusal> = new Map(
  Object.entries(viewerRefusals).map(([refusal, text]) => [text, refusal as ViewerRefusal]),
);

/** @returns undefined for what a hook says, and for mistakes in signed tokens */
export function findRefusal(text: string): ViewerRefusal | undefined {
  return refusalOf.get(text);
}
