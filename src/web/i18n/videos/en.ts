/** Texts of the pages of videos, clips and captions. */
export default {};
