import { baseImages } from './base-images.ts'

/** What Davit needs to know of a Dockerfile before the engine gets it. */
export type Inspection = {
  /** Names of the images that it uses. */
  images: string[]
}

/** Reads a Dockerfile that someone else wrote: call it by `parse`. */
export const inspectDockerfile = (
  text: string,
  { buildArgs }: { buildArgs: Record<string, string> },
): Inspection => ({ images: baseImages(text, buildArgs) })
