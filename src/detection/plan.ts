import { Failure } from '../platform/errors.ts'
import type { Files } from './files.ts'

/** What a user may set in place of what was found; a missing key is found. Commands are shell lines. */
export type Settings = {
  /** Installs the dependencies. */
  install?: string
  build?: string
  start?: string
  /** Of the language, such as 22 or 3.13. */
  version?: string
  /** Where a static build leaves its files. */
  directory?: string
  /** Packages of the image's system, for the build and the app. */
  packages?: string[]
  /** Answers unknown paths of a static site with its index.html. */
  spa?: boolean
}

/** How a repository is built and run. The text is all of it: what isn't in the Dockerfile isn't done. */
export type Plan = {
  /** The directory of the repository that the build sees; '' is all of it. */
  context: string
  /** The framework, or else the language: “Next.js”, “Go”. */
  kind: string
  /** What was recognised and where, such as “Node 22 from .nvmrc”. */
  reasons: string[]
  dockerfile: string
  /** Used when the repository has no .dockerignore. */
  dockerignore: string
  settings: Settings
  /** Templates of services that the code asks for. */
  links: Link[]
  releaseCommand: string | null
}

/** `reason` names what asks for it. */
export type Link = {
  template: 'postgresql' | 'mysql' | 'mongodb' | 'redis' | 'rabbitmq'
  reason: string
}

/** Several packages of one language that are installed or built together from one folder. */
export type Workspace = {
  language: 'node' | 'rust' | 'go' | 'python' | 'java'
  /** What joins them: a package manager or a build tool. */
  tool: string
  /** In the repository; '' is its top. */
  root: string
  /** Those below the root. */
  files: Files
  /** By directory below the root. */
  members: Map<string, Member>
  /** False when not all members could be read, so that what one needs may be more than is known. */
  isComplete: boolean
  /** Names that two members have. */
  twins: string[]
  /** At the root: what may change how each member is built. */
  rootFiles: string[]
}

export type Member = {
  name: string | null
  /** Directories of the members that it needs itself. */
  uses: string[]
}

export type Options = {
  files: Files
  /** In the repository; '' is its top. */
  directory: string
  /** Those that the directory is a member of. */
  workspaces: Workspace[]
  settings: Settings
  /** The names of variables that the build gets. */
  buildVariables: string[]
}

/** Recognises one kind of repository: its plan, null when it is something else, or a Failure when it is this but lacks something. */
export type Rule = {
  /** Files that show it, for the answer to a repository that no rule knows. */
  looksFor: string[]
  plan: (options: Options) => Found | null
}

export type Found = Omit<Plan, 'context' | 'dockerignore' | 'releaseCommand'> & {
  /** Without one it is the directory itself. */
  context?: string
  /** Lines of its .dockerignore beside the usual ones. */
  ignore: string[]
  /** Settings that mean nothing for it: by default what only served files have. */
  unused?: (keyof Settings)[]
  releaseCommand?: string | null
}

/** What only served files have. */
export const ofSites: (keyof Settings)[] = ['directory', 'spa']

/** It is this kind, and can't be built as it is. */
export const lacking = (what: string, fix: string) => new Failure('not_recognized', what, fix)
