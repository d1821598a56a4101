export type TrackKind = 'audio' | 'video';
