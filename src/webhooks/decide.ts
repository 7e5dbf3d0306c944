import { branchOf as followedBranch } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { refuseBranch } from '../git/ref-names.ts'
import type { Project } from '../projects/store.ts'
import { branchOf, isZero, tagOf } from './push.ts'
import type { Push } from './push.ts'

/** The environments that a push deploys; when there are none, the reason is why. */
export type Decision = { environments: Environment[]; reason: string }

/** What a push means for one project as it is set up now. */
export function decide(
  push: Push,
  {
    project,
    environments,
    isOwnerDisabled,
    untouched,
  }: {
    project: Project
    environments: Environment[]
    isOwnerDisabled: boolean
    /** Ids of projects none of whose watched paths the push touches. */
    untouched: ReadonlySet<string>
  },
): Decision {
  const branch = branchOf(push)
  const name = branch ?? tagOf(push)
  if (project.deletingAt) return nothing('The project is being deleted.')
  if (isOwnerDisabled) return nothing('The account of the project’s owner is disabled.')
  if (name === null) return nothing('What was pushed is neither a branch nor a tag.')
  const refused = refuseBranch(name)
  if (refused) return nothing(refused)
  const what = `${branch === null ? 'tag' : 'branch'} ${name}`
  if (isZero(push.after)) return nothing(`The ${what} was deleted.`)

  const following = environments.filter((environment) => {
    if (environment.deletingAt) return false
    const followed = followedBranch(environment, project)
    return followed === null ? branch !== null && isDefault(branch, push) : followed === name
  })
  if (following.length === 0) return nothing(`No environment follows the ${what}.`)
  const automatic = following.filter(({ autoDeploy }) => autoDeploy ?? project.autoDeploy)
  if (automatic.length === 0)
    return nothing(`Deploying when pushed is off for ${namesOf(following)}.`)
  const skip = skipMarks.find((mark) => push.message?.toLowerCase().includes(mark))
  if (skip) return nothing(`The message of the commit says ${skip}.`)
  if (untouched.has(project.id)) return nothing('The push touches none of the watched paths.')
  return { environments: automatic, reason: `Deployed to ${namesOf(automatic)}.` }
}

/** A sender that does not name the repository's default branch is taken to use a usual one. */
const isDefault = (branch: string, { defaultBranch }: Push) =>
  (defaultBranch === null ? ['main', 'master'] : [defaultBranch]).includes(branch)

const skipMarks = ['[skip ci]', '[ci skip]', '[skip deploy]']

const nothing = (reason: string): Decision => ({ environments: [], reason })

const namesOf = (environments: Environment[]) => environments.map(({ name }) => name).join(', ')
