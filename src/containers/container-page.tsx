import { ContainerDetails } from './container-details.tsx'
import { ContainerStatus } from './container-status.tsx'
import type { ContainerView } from './container-view.ts'

/** One container: how it fares, what it uses, what it writes, and how it was made. */
export const ContainerPage = ({ view }: { view: ContainerView }) => (
  <>
    <ContainerStatus view={view} />
    <ContainerDetails view={view} />
  </>
)
