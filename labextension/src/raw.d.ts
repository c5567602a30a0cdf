/** A file as text: the bundler's rule in `webpack.config.cjs`, and Vite's own in the tests. */
declare module '*?raw' {
  const text: string;
  export default text;
}
