import type { Answer } from '../support/client.ts'

/** The fields of a form, with what each takes; `any` where the schema does not say. */
export function typesOf(schema: Record<string, any>): Record<string, string> {
  const { anyOf = [], allOf = [], oneOf = [] } = schema
  const variants = [schema, ...anyOf, ...allOf, ...oneOf]
  const properties = variants.flatMap(({ properties = {} }) => Object.entries<any>(properties))
  return Object.fromEntries(
    properties.map(([name, field]) => {
      const kinds = [field, ...(field.anyOf ?? [])]
      if (kinds.some((kind) => kind.enum)) return [name, 'choice']
      return [
        name,
        kinds.flatMap(({ type }) => type).find((type) => type && type !== 'null') ?? 'any',
      ]
    }),
  )
}

export const hasText = (type: string) => ['string', 'array', 'object', 'any'].includes(type)

export function shapesOf(type: string, text: string): unknown[] {
  const list = [[text], [`data:/${text}`]]
  const pairs = [{ A: text }, { [text]: 'x' }]
  if (type === 'array') return list
  if (type === 'object') return pairs
  return type === 'any' ? [text, ...list, ...pairs] : [text]
}

export const trimmed = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim() : Array.isArray(value) ? value.map(trimmed) : value

/** What the answer says of a field, wherever in it that stands. */
export function toldOf({ json }: Answer, field: string) {
  const places = [json, json.variable, json.user, json.project]
  return places.find((place) => place && field in place)?.[field]
}
