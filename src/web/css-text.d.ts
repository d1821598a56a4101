/** A style sheet that code imports is its text. */
declare module '*.css' {
  const text: string;
  export default text;
}
