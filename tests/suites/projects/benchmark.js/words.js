export function count(text) {
  return text.split(" ").length;
}
