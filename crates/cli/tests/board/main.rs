//! The board in a real browser: the binary with its server, scripted agents, and headless Chromium.
//!
//! What a page shows is tested where it is made, in the board room; here a person works with it. A test is skipped, and says
//! so, where Chromium is not installed.

mod axe;
mod first;
mod hostile;
mod larder;
mod live;
mod moves;
mod pictures;
mod recoveries;
mod review;
mod runs;
mod speed;
mod support;
mod talk;
mod troubles;
