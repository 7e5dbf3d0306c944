/** An image that a build uses. The platform is empty for the engine's own. */
export type WantedImage = { image: string; platform: string }

/** Apart from the reader, which only the worker loads. */
export const keyOf = ({ image, platform }: WantedImage) => `${image} ${platform}`
