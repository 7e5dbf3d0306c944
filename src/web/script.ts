import { basename } from 'node:path'

type Assets = {
  /** The text of a file in `assets/`. */
  read: (name: string) => string
  /** The file's URL for browsers. */
  address: (name: string) => string
}

const importLine = /^import (?:\{([^}]*)\} from )?'\.\/([\w./-]+\.js)'\n/gm
const exportWord = /^export (?=(?:async )?(?:function\*?|class|const) ([\w$]+))/gm

/**
 * Joins a module of `assets/` and its imports to one script, each in its own scope, so that a browser sends
 * one request. Dynamic imports stay separate scripts. Vendored files with exports stay modules, as they are
 * large; the others become global.
 */
export function joinScripts(entry: string, { read, address }: Assets) {
  const heads: string[] = []
  const modules = new Map<string, { exported: string[]; text: string }>()
  const begun = new Set<string>()

  function add(name: string) {
    if (modules.has(name)) return
    if (begun.has(name)) throw new Error(`assets/${name} imports itself by others`)
    begun.add(name)
    const exported: string[] = []
    const text = read(name)
      .replace(importLine, (_, names: string | undefined, from: string) => {
        if (from.startsWith('vendor/')) {
          heads.push(names ? `import{${names}}from'${address(from)}'` : read(from))
          return ''
        }
        add(from)
        return names ? `const {${names.replace(/\b(\w+) as\b/g, '$1:')}} = ${scopeOf(from)}\n` : ''
      })
      .replace(exportWord, (_, name: string) => {
        exported.push(name)
        return ''
      })
      .replace(/\bimport\('\.\/([\w./-]+\.js)'\)/g, (_, from) => `import('${address(from)}')`)
    if (/^(import|export)\b(?!\()/m.test(text))
      throw new Error(`assets/${name} imports or exports in a way that can’t be joined`)
    modules.set(name, { exported, text })
  }

  add(entry)
  const own = Array.from(
    modules,
    ([name, { exported, text }]) =>
      `const ${scopeOf(name)} = (() => {\n${text}\nreturn {${exported}}\n})()\n`,
  )
  const { exported } = modules.get(entry)!
  const given = exported.length > 0 ? `export const{${exported}}=` : ''
  const body = `${given}(() => {'use strict'\n${own.join('')}return ${scopeOf(entry)}\n})()`
  return [...heads, minifier.transformSync(body)].join(';\n')
}

const scopeOf = (name: string) => `$${basename(name, '.js').replaceAll('-', '_')}`

/** Shortens names, too, which the types don't know. */
const options = { loader: 'js', target: 'browser', minify: true } as const
const minifier = new Bun.Transpiler(options)
