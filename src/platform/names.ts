/** Keeps what a DNS label may have: lower-case letters, digits and hyphens; may be empty. */
export const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

export function firstFree(
  named: (end: string) => string,
  isFree: (name: string) => boolean,
  endOf = (number: number) => `-${number}`,
) {
  for (let number = 1; ; number++) {
    const name = named(number === 1 ? '' : endOf(number))
    if (isFree(name)) return name
  }
}
