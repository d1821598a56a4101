/** Texts of the pages of live streams. */
export default {};
