/** Storyboards of live streams: each slot of the wall clock has one frame, and a sheet those of neighboring slots, row by row. */
export const slotMs = 5000;
export const sheetColumns = 5;
export const sheetRows = 4;
export const slotsPerSheet = sheetColumns * sheetRows;
/** Longer side of a frame, in pixels. */
export const tileSide = 160;
