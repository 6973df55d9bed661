export const count = (text: string): number => text.split(" ").length;
