/** Without the end that its type gives it, such as `_total`; its unit is the end of the name. */
export type Family = { name: string; type: keyof typeof ends; help: string }

type Labels = Record<string, string | null | undefined>

/** Of a histogram: how many were up to each bound, all, and their sum. */
type Counts = { counts: number[]; count: number; seconds: number }

/**
 * Collects samples and writes them family by family: as OpenMetrics 1.0 or as Prometheus' older text format,
 * where the names of counters and infos include their ends.
 */
export class Exposition<Name extends string> {
  readonly #families: Record<Name, Family>
  readonly #lines = new Map<Name, string[]>()

  constructor(families: Record<Name, Family>) {
    this.#families = families
  }

  /** An unknown value has no sample. */
  add(family: Name, labels: Labels, value: number | null | undefined) {
    if (value == null || !Number.isFinite(value)) return
    const { name, type } = this.#families[family]
    this.#line(family, `${name}${ends[type]}${labelsOf(labels)} ${value}`)
  }

  addHistogram(
    family: Name,
    labels: Labels,
    { bounds, counts, count, seconds }: Counts & { bounds: readonly number[] },
  ) {
    const { name } = this.#families[family]
    for (const [at, bound] of [...bounds, Infinity].entries()) {
      const le = Number.isInteger(bound) ? bound.toFixed(1) : String(bound)
      const named = { ...labels, le: bound === Infinity ? '+Inf' : le }
      this.#line(family, `${name}_bucket${labelsOf(named)} ${counts[at] ?? count}`)
    }
    this.#line(family, `${name}_sum${labelsOf(labels)} ${seconds}`)
    this.#line(family, `${name}_count${labelsOf(labels)} ${count}`)
  }

  *text({ isOpenMetrics }: { isOpenMetrics: boolean }): Generator<string> {
    for (const [family, declared] of Object.entries<Family>(this.#families)) {
      const lines = this.#lines.get(family as Name)
      if (!lines) continue
      const { name: base, type, help } = declared
      const name = isOpenMetrics ? base : base + ends[type]
      const known = isOpenMetrics || type !== 'info' ? type : 'gauge'
      yield `# TYPE ${name} ${known}\n`
      const unit = /_(bytes|seconds)$/.exec(base)?.[1]
      if (isOpenMetrics && unit) yield `# UNIT ${name} ${unit}\n`
      yield `# HELP ${name} ${help}\n`
      yield `${lines.join('\n')}\n`
    }
    if (isOpenMetrics) yield '# EOF\n'
  }

  #line(family: Name, line: string) {
    const lines = this.#lines.get(family)
    if (lines) lines.push(line)
    else this.#lines.set(family, [line])
  }
}

const ends = { gauge: '', counter: '_total', histogram: '', info: '_info' }

/** Without empty ones, which are the same as none. */
function labelsOf(labels: Labels) {
  const written = Object.entries(labels).flatMap(([name, value]) =>
    value ? [`${name}="${value.replace(/[\\"\n]/g, escaped)}"`] : [],
  )
  return written.length > 0 ? `{${written.join(',')}}` : ''
}

const escaped = (character: string) => (character === '\n' ? '\\n' : `\\${character}`)
