/** Texts of the pages of players and watermarks. */
export default {};
