/** What happened to a pull request. A merge closes it. */
export type Pull = {
  action: 'opened' | 'reopened' | 'pushed' | 'closed'
  number: number
  title: string
  /** Its page at the provider. May be empty once it is closed, like its commit. */
  url: string
  /** The branch that it merges; null in another repository, where its name says nothing. */
  branch: string | null
  /** By which the project's repository has it, also from a fork. */
  ref: string
  commit: string
  /** It is from another repository, or from one that was deleted. */
  isFork: boolean
  sender: string | null
  /** When the provider says that it changed last, in milliseconds. */
  updatedAt: number | null
}
