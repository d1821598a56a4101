/** Texts of the overview. */
export default {};
