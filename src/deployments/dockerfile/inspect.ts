import { Failure } from '../../platform/errors.ts'
import { keyOf } from '../base-images.ts'
import type { WantedImage } from '../base-images.ts'
import { imageUses } from './base-images.ts'
import { syntaxesOf } from './directives.ts'
import { readingsOf } from './instructions.ts'
import type { Instruction, Reading } from './instructions.ts'
import { rewrite } from './rewrite.ts'
import type { Replacements } from './rewrite.ts'
import { addsOf, refuseOddCharacters, refuseSources } from './sources.ts'
import type { RemoteFile } from './sources.ts'
import type { Base, StageArguments, Stage } from './stages.ts'
import { visitStages } from './stages.ts'

export type Reader = {
  buildArgs: Record<string, string>
  buildKit: boolean
  /** True when the engine's own frontend supports here-documents. */
  heredocs: boolean
  /** The engine's platform, such as `linux/amd64`. */
  platform: string
}

/** A reader that also knows the images that the file uses. */
export type StageReader = Reader & {
  /** By the key that `keyOf` returns. */
  bases: Record<string, Base>
}

/**
 * Returns the images that an untrusted Dockerfile uses. Call this and the two functions below through
 * `parse`. They throw for everything that Davit doesn't build.
 */
export function inspectDockerfile(text: string, reader: Reader): WantedImage[] {
  refuseSyntax(text)
  refuseOddCharacters(text)
  const readings = readingsOf(text, knownDialect(text, reader))
  for (const reading of readings) refuseSources(reading)
  const uses = readings.flatMap((reading) => imageUses(reading, argumentsFor(reader)))
  const wanted = uses.map((use) => wantedOf(use, reader))
  if (!reader.buildKit) for (const { image } of wanted) refuseId(image)
  const images = unique(wanted, keyOf)
  if (images.length > maxImages) throw tooMany()
  return images
}

/** Returns what its stages add and expose. */
export function inspectStages(text: string, reader: StageReader) {
  const dialect = knownDialect(text, reader)
  const readings = readingsOf(text, dialect)
  const given = stageArguments(reader)
  const adds = readings.flatMap((reading) => [...addsOf(reading, given).values()])
  const files = adds.flatMap(({ remotes }) => remotes)
  const remotes: RemoteFile[] = unique(files, ({ address, checksum }) => address + checksum)
  if (remotes.length > maxImages) throw tooMany()
  if (dialect.heredocs === false) refuseHeredocs(text, reader)
  return {
    remotes,
    /** True when an ADD has variables. Their values, which were checked, are then written out. */
    isExpanded: adds.some(({ isExpanded }) => isExpanded),
    ports: exposedPorts(readings[0]!, given),
  }
}

/** Replaces names of images, and replaces addresses with files of the context. */
export function rewriteDockerfile(text: string, reader: StageReader, replacements: Replacements) {
  const [reading] = readingsOf(text, knownDialect(text, reader))
  const uses = imageUses(reading!, argumentsFor(reader))
  const named = new Map(
    uses.flatMap((use) => {
      const argument = replacements.images[keyOf(wantedOf(use, reader))]
      return argument ? [[use, argument] as const] : []
    }),
  )
  const [syntax] = syntaxesOf(text)
  const adds = addsOf(reading!, stageArguments(reader))
  return rewrite(reading!, { syntax, named, adds, files: replacements.files })
}

function wantedOf({ image, platform }: WantedImage, reader: Reader): WantedImage {
  const plain = platform
    .replace('x86_64', 'amd64')
    .replace('aarch64', 'arm64')
    .replace('64/v8', '64')
  return { image, platform: plain === reader.platform ? '' : plain }
}

function argumentsFor({ buildArgs, buildKit, platform }: Reader) {
  const [os = '', arch = '', variant = ''] = platform.split('/')
  const preset = ['BUILD', 'TARGET'].flatMap((whose) => [
    [`${whose}PLATFORM`, platform],
    [`${whose}OS`, os],
    [`${whose}ARCH`, arch],
    [`${whose}VARIANT`, variant],
  ])
  // BuildKit uses a given value for one of these even if no ARG declares it.
  const known = preset.map(([name, value]) => [name!, buildArgs[name!] ?? value!])
  return { buildArgs, preset: buildKit ? Object.fromEntries(known) : {} }
}

const stageArguments = (reader: StageReader): StageArguments => ({
  ...argumentsFor(reader),
  buildKit: reader.buildKit,
  baseOf: (use) => reader.bases[keyOf(wantedOf(use, reader))],
})

/** Sets `heredocs` only if it is certain, from the file's frontend or the engine's own. */
function knownDialect(text: string, { buildKit, heredocs }: Reader) {
  const [syntax] = syntaxesOf(text)
  if (!buildKit) return { heredocs: false }
  if (syntax === undefined) return { heredocs }
  const [, minor, labs] =
    /^[^@]*:(?:1|latest|labs)(?:\.(\d+))?(?:\.\d+)?(-labs)?$/.exec(syntax) ?? []
  if (/:(1|latest|labs|1-labs)$/.test(syntax) || !/[:@]/.test(syntax)) return { heredocs: true }
  if (minor === undefined) return {}
  return { heredocs: Number(minor) >= (labs ? 3 : 4) }
}

/** Maximum of images in one build, and of addresses that Davit fetches. */
const maxImages = 100

const tooMany = () =>
  new Failure(
    'dockerfile_too_hard',
    `Build failed: the Dockerfile uses more than ${maxImages} images, or adds more than ${maxImages} addresses.`,
    'Reduce their number.',
  )

const dockers = /^(docker\.io\/)?docker\/dockerfile(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/

/** The engine would run any image as a frontend, alongside all other builds. */
function refuseSyntax(text: string) {
  for (const syntax of syntaxesOf(text))
    if (!dockers.test(syntax.trim()))
      throw new Failure(
        'syntax_refused',
        `Build failed: the Dockerfile uses the frontend ${syntax}, which Davit doesn’t allow.`,
        'Remove the line “# syntax=”, or use docker/dockerfile there, with a tag such as docker/dockerfile:1.',
      )
}

/** Otherwise Docker would report the first line of the text as an unknown instruction. */
function refuseHeredocs(text: string, { buildKit }: Reader) {
  const instructions = readingsOf(text, { heredocs: true }).flatMap((found) => found.instructions)
  const lines = new Set(text.split('\n').map((line) => line.trim()))
  const hasEnd = ({ heredocs }: Instruction) => heredocs.some(({ name }) => lines.has(name))
  const { line, heredocs } = instructions.find(hasEnd) ?? {}
  if (!heredocs) return // not a here-document: a shell's arithmetic such as 1 << 2
  const other = 'write it in RUN with && between commands, or as a file of the repository'
  throw new Failure(
    'heredoc_unsupported',
    `Build failed: line ${line} of the Dockerfile has a here-document (<<${heredocs[0]!.name}), which the Docker of this server can’t build.`,
    buildKit
      ? `Begin the Dockerfile with the line “# syntax=docker/dockerfile:1”, or ${other}.`
      : `The operator can update Docker or allow BuildKit (DAVIT_BUILDER). Until then, ${other}.`,
  )
}

/** The classic builder accepts the prefix of an id as a name, whoever owns the image. */
function refuseId(image: string) {
  if (/^(sha256:)?[0-9a-f]+$/i.test(image))
    throw new Failure(
      'image_name_invalid',
      `Build failed: ${image} may be an image id. Use the image’s name.`,
      `Write its name and tag; if ${image} is a name, write docker.io/library/${image}:latest.`,
    )
}

function unique<Item>(items: Item[], key: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [key(item), item])).values()]
}

/**
 * Returns the TCP ports that a Dockerfile exposes, in order: those of the last stage, then those of the
 * stages in the file that it starts from. The engine keeps them unordered, mixed with those of the base
 * image.
 */
function exposedPorts(reading: Reading, given: StageArguments): number[] {
  const ports = new Map<Stage, number[]>()
  const last = visitStages(reading, given, ({ name, text }, { stage, resolve }) => {
    if (name !== 'EXPOSE') return
    const words = text.split(/\s+/).flatMap((word) => resolve(word)?.split(/\s+/) ?? [])
    ports.set(stage, [...(ports.get(stage) ?? []), ...words.flatMap(portsIn)].slice(0, maxPorts))
  })
  const found: number[] = []
  for (let stage = last; stage && found.length < maxPorts; stage = stage.parent)
    found.push(...(ports.get(stage) ?? []))
  return [...new Set(found)].slice(0, maxPorts)
}

const maxPorts = 20

/** Reads `80`, `80/tcp` or `80-90`; empty for other protocols. */
function portsIn(word: string): number[] {
  const [, first, last = first, protocol = 'tcp'] =
    /^(\d{1,5})(?:-(\d{1,5}))?(?:\/(\w+))?$/.exec(word) ?? []
  if (first === undefined || protocol.toLowerCase() !== 'tcp') return []
  const count = Math.min(Math.max(Number(last) - Number(first) + 1, 0), maxPorts)
  return Array.from({ length: count }, (_, i) => Number(first) + i)
}
