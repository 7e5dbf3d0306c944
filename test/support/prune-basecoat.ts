import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The components of Basecoat that pages are made of, and what stands in other selectors beside them. */
export const kept = [
  'active',
  'alert',
  'badge',
  'btn',
  'card',
  'dark',
  'dialog',
  'field',
  'input',
  'select',
  'tabs',
  'textarea',
]

/** What no page has, told by something else than a class. */
export const dropped = new RegExp(
  [
    ...['type=(?:range|color|time|week|month|tel)', 'data-(?:tooltip|orientation|slot|popover)'],
    ...['role=(?:switch|tab|tablist|tabpanel|listbox|option|radiogroup|separator)'],
    ...['data-(?:side|align|empty|disabled|description)', 'aria-(?:disabled|orientation)'],
    ...['data-variant=(?:line|secondary|link)', 'data-size=(?:xs|icon)', 'multiple'],
  ]
    .map((attribute) => `\\[${attribute}\\b`)
    .join('|') + '|::-ms-',
)

const assets = join(import.meta.dir, '../../assets/vendor')
export const full = join(assets, '../../node_modules/basecoat-css/dist/basecoat-nova.cdn.min.css')
export const pruned = join(assets, 'basecoat.css')

const notice = '/*! basecoat-css 1.0.2 (nova style, pruned), MIT, https://basecoatui.com */'

/** The style sheet without the rules that only concern other components, one rule a line. */
export const prune = (css: string) => {
  const notices = css.match(/\/\*![^]*?\*\//g) ?? []
  const rules = rulesOf(css.replace(/\/\*[^]*?\*\//g, '')).join('\n')
  return `${[notice, ...notices, withoutUnused(rules)].join('\n')}\n`
}

/** Without the variables that neither these rules nor those of Davit name. */
function withoutUnused(rules: string) {
  const own = readdirSync(join(assets, '..')).filter((name) => name.endsWith('.css'))
  const all = [rules, ...own.map((name) => readFileSync(join(assets, '..', name), 'utf8'))]
  const used = new Set(all.flatMap((text) => text.match(/(?<=var\()--[\w-]+/g) ?? []))
  return rules.replace(
    /(?<=[{;])(--[\w-]+):(?:"[^"]*"|'[^']*'|[^;}"'])*;?/g,
    (declaration, name: string) => (used.has(name) ? declaration : ''),
  )
}

function rulesOf(css: string): string[] {
  const rules: string[] = []
  for (let at = 0; ;) {
    const end = outside(css, at, (char) => char === '{' || char === ';')
    if (end === -1) return rules
    const prelude = css.slice(at, end).trim()
    if (css[end] === ';') {
      rules.push(`${prelude};`)
      at = end + 1
    } else {
      const close = closing(css, end)
      rules.push(...rule(prelude, css.slice(end + 1, close)))
      at = close + 1
    }
  }
}

/** A condition that each browser meets that reads nested rules, as Davit's own style sheets have. */
const alwaysMet = /^@supports \(color:color-mix\(/

/** What sets Tailwind's variables in browsers without `@property`, which read no nested rules either. */
const olderBrowsers = '@layer properties'

function rule(prelude: string, body: string): string[] {
  if (alwaysMet.test(prelude)) return rulesOf(body)
  if (prelude === olderBrowsers) return []
  if (/^@(media|supports|layer|container|starting-style)/.test(prelude)) {
    const inside = rulesOf(body)
    return inside.length > 0 ? [`${prelude}{`, ...inside, '}'] : []
  }
  if (prelude.startsWith('@')) return [`${prelude}{${body}}`]
  const selectors = alternatives(prelude).filter(isKept)
  return selectors.length > 0 ? [`${selectors.join(',')}{${body}}`] : []
}

/** Whether something that pages have may match. */
function isKept(selector: string): boolean {
  const list = /:(is|where|not|has)\(/.exec(selector)
  if (!list) {
    if (dropped.test(selector)) return false
    const classes = selector.replace(/\[[^\]]*\]/g, '').matchAll(/\.([a-zA-Z_][\w-]*)/g)
    return classes.every(([, name]) => kept.includes(name!))
  }
  const open = list.index + list[0].length - 1
  const close = closing(selector, open)
  const inside = selector.slice(open + 1, close)
  return (
    isKept(selector.slice(0, list.index) + selector.slice(close + 1)) &&
    (list[1] === 'not' || alternatives(inside).some(isKept))
  )
}

function alternatives(list: string): string[] {
  const end = outside(list, 0, (char) => char === ',')
  return end === -1 ? [list] : [list.slice(0, end), ...alternatives(list.slice(end + 1))]
}

const brackets: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/** Where the text first has such a character outside strings and brackets, or -1. */
function outside(text: string, from: number, isSought: (char: string) => boolean) {
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (isSought(char)) return at
    if (char === '\\') at++
    else if (char === '"' || char === "'") at = endOfString(text, at)
    else if (char in brackets) at = closing(text, at)
  }
  return -1
}

/** Where the bracket that opens at a place is closed. */
const closing = (text: string, open: number): number =>
  outside(text, open + 1, (char) => char === brackets[text[open]!])

function endOfString(text: string, open: number) {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[open]) return at
  }
  throw new Error(`The string at ${open} does not end.`)
}

if (import.meta.main) await Bun.write(pruned, prune(await Bun.file(full).text()))
